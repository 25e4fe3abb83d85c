/** The settings for every module: `@Inject(SETTINGS) settings: Settings`. */
import { Module, type DynamicModule } from "@nestjs/common";
import { SETTINGS, type Settings } from "./settings.ts";

@Module({})
export class SettingsModule {
  static of(settings: Settings): DynamicModule {
    return {
      ...{ module: SettingsModule, global: true },
      providers: [{ provide: SETTINGS, useValue: settings }],
      exports: [SETTINGS],
    };
  }
}
