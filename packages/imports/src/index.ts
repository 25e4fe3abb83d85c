/** Spreadsheets in: `defineImport` says what a row is, a job reads, validates and upserts. */
export {};
