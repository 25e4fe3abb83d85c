/** System 5: spreadsheets from an inbox or by upload, into the tables that the other systems read. */
import { Inject, Injectable, Module, type OnApplicationShutdown } from "@nestjs/common";
import { openImports, type ImportDefinition, type Imports } from "@holdfast/imports";
import { importsMount } from "@holdfast/imports/server";
import { Holdfast } from "holdfast";
import { SETTINGS, type Settings } from "../config/settings.ts";
import { IMPORT_HANDLERS } from "./import-handlers.ts";
import { ImportTargets } from "./import-targets.ts";

/** `@Inject(IMPORTS) imports: Imports`. */
export const IMPORTS = Symbol("imports");
/** Its routes, for the server. */
export const IMPORTS_MOUNT = Symbol("routes of imports");

/** The worker has stopped by then; what it used may be closed. */
@Injectable()
class ImportsCloser implements OnApplicationShutdown {
  constructor(@Inject(IMPORTS) private readonly imports: Imports) {}

  async onApplicationShutdown(): Promise<void> {
    await this.imports.close();
  }
}

@Module({
  providers: [
    ...[ImportTargets, ...IMPORT_HANDLERS, ImportsCloser],
    {
      provide: IMPORTS,
      inject: [Holdfast, SETTINGS, ...IMPORT_HANDLERS],
      useFactory: (
        hf: Holdfast,
        { imports }: Settings,
        ...types: { readonly definition: ImportDefinition }[]
      ) => openImports(hf, { inbox: imports.inbox, manifest: imports.manifest, types }),
    },
    { provide: IMPORTS_MOUNT, inject: [IMPORTS], useFactory: importsMount },
  ],
  exports: [IMPORTS, IMPORTS_MOUNT],
})
export class ImportsModule {}
