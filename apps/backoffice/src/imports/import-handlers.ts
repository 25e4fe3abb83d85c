/** System 5's handlers: what a row is, and what it is known by. Reading, checking, writing and counting are the base's. */
import { Inject, Injectable } from "@nestjs/common";
import { BaseImportHandler } from "@holdfast/imports";
import { ImportTargets } from "./import-targets.ts";
import { rowSchema, type ImportRow } from "./row-schemas.ts";

const INVOICE = ["Invoice No", "Invoice #", "Invoice", "Inv No"];
/** As system 5 prints it: min(1000 * 2^attempt, 60000). How many attempts, QUEUE_MAX_ATTEMPTS says. */
const job = { retry: { baseMs: 1_000, factor: 2, maxMs: 60_000 } } as const;

@Injectable()
export class ImportApHandler extends BaseImportHandler<ImportRow<"ap">> {
  protected readonly importType = "ap";
  protected readonly schema;

  constructor(@Inject(ImportTargets) targets: ImportTargets) {
    const aliases = { invoiceNumber: INVOICE, vendor: ["Vendor name", "Supplier"] };
    super({ target: targets.of("payables"), aliases: { ...aliases, amount: ["Total"] }, job });
    this.schema = rowSchema("ap", targets.isCompany);
  }

  protected getUpsertFilter(row: ImportRow<"ap">) {
    return { invoiceNumber: row.invoiceNumber };
  }
}

@Injectable()
export class ImportArHandler extends BaseImportHandler<ImportRow<"ar">> {
  protected readonly importType = "ar";
  protected readonly schema;

  constructor(@Inject(ImportTargets) targets: ImportTargets) {
    const aliases = { invoiceNumber: INVOICE, customer: ["Customer name", "Client"] };
    super({ target: targets.of("receivables"), aliases: { ...aliases, amount: ["Total"] }, job });
    this.schema = rowSchema("ar", targets.isCompany);
  }

  protected getUpsertFilter(row: ImportRow<"ar">) {
    return { invoiceNumber: row.invoiceNumber };
  }
}

@Injectable()
export class ImportBudgetForecastHandler extends BaseImportHandler<ImportRow<"budgetForecast">> {
  protected readonly importType = "budgetForecast";
  protected readonly schema;

  constructor(@Inject(ImportTargets) targets: ImportTargets) {
    const aliases = { year: ["Fiscal year", "FY"], department: ["Dept", "Cost centre"] };
    super({ target: targets.of("budgets"), aliases, job });
    this.schema = rowSchema("budgetForecast", targets.isCompany);
  }

  protected getUpsertFilter({ year, category, department }: ImportRow<"budgetForecast">) {
    return { year, category, department };
  }
}

@Injectable()
export class ImportCustomersHandler extends BaseImportHandler<ImportRow<"customers">> {
  protected readonly importType = "customers";
  protected readonly schema;

  constructor(@Inject(ImportTargets) targets: ImportTargets) {
    const aliases = { email: ["E-mail", "Mail"], name: ["Customer", "Customer name"] };
    super({ target: targets.of("customers"), aliases, job });
    this.schema = rowSchema("customers", targets.isCompany);
  }

  protected getUpsertFilter(row: ImportRow<"customers">) {
    return { email: row.email };
  }
}

@Injectable()
export class ImportVendorsHandler extends BaseImportHandler<ImportRow<"vendors">> {
  protected readonly importType = "vendors";
  protected readonly schema;

  constructor(@Inject(ImportTargets) targets: ImportTargets) {
    const aliases = { vendorId: ["Vendor No", "Supplier ID"], name: ["Vendor", "Supplier"] };
    super({ target: targets.of("vendors"), aliases: { ...aliases, taxId: ["VAT ID"] }, job });
    this.schema = rowSchema("vendors", targets.isCompany);
  }

  protected getUpsertFilter(row: ImportRow<"vendors">) {
    return { vendorId: row.vendorId };
  }
}

@Injectable()
export class ImportTransactionsHandler extends BaseImportHandler<ImportRow<"transactions">> {
  protected readonly importType = "transactions";
  protected readonly schema;

  constructor(@Inject(ImportTargets) targets: ImportTargets) {
    const aliases = { transactionId: ["Transaction No", "Reference"], date: ["Booking date"] };
    super({ target: targets.of("transactions"), aliases, job });
    this.schema = rowSchema("transactions", targets.isCompany);
  }

  protected getUpsertFilter(row: ImportRow<"transactions">) {
    return { transactionId: row.transactionId };
  }
}

export const IMPORT_HANDLERS = [
  ImportApHandler,
  ImportArHandler,
  ImportBudgetForecastHandler,
  ImportCustomersHandler,
  ImportVendorsHandler,
  ImportTransactionsHandler,
] as const;
