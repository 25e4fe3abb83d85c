/**
 * The whole application. A further system is a module of its own folder: add it to `imports` here, its tables to
 * data/tables.ts, its routes of a battery to `batteries`. HoldfastModule stays last: Nest stops the last first.
 */
import { Module, type DynamicModule } from "@nestjs/common";
import { HoldfastModule } from "@holdfast/nestjs";
import { AuthModule } from "./auth/auth-module.ts";
import { CfoModule } from "./cfo/cfo-module.ts";
import { SettingsModule } from "./config/settings-module.ts";
import type { Settings } from "./config/settings.ts";
import { CrmModule } from "./crm/crm-module.ts";
import { DataModule } from "./data/data-module.ts";
import { IMPORTS_MOUNT, ImportsModule } from "./imports/imports-module.ts";
import { holdfastOptions } from "./jobs/holdfast-options.ts";
import { QueueModule } from "./queue/queue-module.ts";
import { HealthController } from "./server/health-controller.ts";
import { LoginController } from "./server/login-controller.ts";
import { serverModule } from "./server/server-module.ts";
import {
  SIMULATION_PATHS,
  SIMULATIONS,
  SimulationsModule,
} from "./simulations/simulations-module.ts";

@Module({})
export class AppModule {
  static of(settings: Settings): DynamicModule {
    return {
      module: AppModule,
      imports: [
        SettingsModule.of(settings),
        DataModule,
        AuthModule,
        CfoModule,
        QueueModule,
        ImportsModule,
        CrmModule,
        SimulationsModule,
        serverModule({
          settings,
          batteries: [
            { module: ImportsModule, mount: IMPORTS_MOUNT, paths: [] },
            { module: SimulationsModule, mount: SIMULATIONS, paths: SIMULATION_PATHS },
          ],
        }),
        HoldfastModule.forRoot(holdfastOptions(settings)),
      ],
      controllers: [LoginController, HealthController],
    };
  }
}
