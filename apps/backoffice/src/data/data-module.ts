/** The business's data for every module: `constructor(private readonly data: Data)`. Migrated before anything asks. */
import { Global, Inject, Injectable, Module, type OnApplicationShutdown } from "@nestjs/common";
import { APP_FILTER } from "@nestjs/core";
import { SETTINGS, type Settings } from "../config/settings.ts";
import { Data } from "./data.ts";
import { dataOfUrl } from "./data-of-url.ts";
import { DuplicateRowFilter } from "./duplicate-row-filter.ts";

/** Last of all: jobs that end during a stop still write. */
@Injectable()
class DataCloser implements OnApplicationShutdown {
  constructor(@Inject(Data) private readonly data: Data) {}

  async onApplicationShutdown(): Promise<void> {
    await this.data.close();
  }
}

@Global()
@Module({
  providers: [
    {
      provide: Data,
      inject: [SETTINGS],
      useFactory: async ({ dataUrl }: Settings) => {
        const data = await dataOfUrl(dataUrl);
        try {
          await data.migrate();
        } catch (error) {
          await data.close().catch(() => {});
          throw error;
        }
        return data;
      },
    },
    DataCloser,
    { provide: APP_FILTER, useClass: DuplicateRowFilter },
  ],
  exports: [Data],
})
export class DataModule {}
