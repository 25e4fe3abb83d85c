// src/queue/queue.constants.ts
export enum JobType {
  IMPORT_XLSX_CUSTOMERS = 'import.xlsx.customers',
  SEND_EMAIL = 'send.email',  // New job type
}
