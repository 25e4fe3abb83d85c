/** Outbound sync: a CRM kept in step with what the application says, politely. */
export {};
