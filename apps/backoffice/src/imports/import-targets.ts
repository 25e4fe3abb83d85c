/** The tables of the business as targets of imports: the same rows that every other system reads. */
import { Inject, Injectable } from "@nestjs/common";
import {
  mongodbTarget,
  postgresTarget,
  sqliteTarget,
  type ImportTarget,
  type MongodbTargetOptions,
  type PostgresTargetOptions,
} from "@holdfast/imports";
import { Data } from "../data/data.ts";
import type { TableName } from "../data/tables.ts";
import type { CompanyCheck } from "./row-schemas.ts";

@Injectable()
export class ImportTargets {
  /** Companies stay, so those that were seen are not asked for again; others may have come since. */
  readonly #companies = new Set<string>();

  constructor(@Inject(Data) private readonly data: Data) {}

  of(table: TableName): ImportTarget {
    const place = this.data.importPlace();
    switch (place.kind) {
      case "sqlite":
        return sqliteTarget({ file: place.file, table });
      case "postgres": {
        const pool = place.pool as NonNullable<PostgresTargetOptions["pool"]>;
        return postgresTarget({ pool, table: `${place.schema}.${table}` });
      }
      case "mongodb": {
        const db = place.db as NonNullable<MongodbTargetOptions["db"]>;
        return mongodbTarget({ db, collection: table });
      }
    }
  }

  readonly isCompany: CompanyCheck = async (companyId) => {
    if (this.#companies.has(companyId)) return true;
    const isThere = (await this.data.count("companies", { id: companyId })) > 0;
    if (isThere) this.#companies.add(companyId);
    return isThere;
  };
}
