/** System 3: simulations that create records of the CRM, and their routes at `api/simulations`. */
import { Module } from "@nestjs/common";
import { Holdfast } from "holdfast";
import { classifyHubSpot } from "@holdfast/crm";
import { Pacing } from "@holdfast/pacing";
import { pacingMount } from "@holdfast/pacing/server";
import { SETTINGS, type Settings } from "../config/settings.ts";
import { CRM, type Crm } from "../crm/crm.ts";
import { CrmModule } from "../crm/crm-module.ts";
import { SimulatedRecords } from "./simulated-records.ts";

/** For `mountsFrom` of the server. */
export const SIMULATIONS = Symbol("routes of simulations");
/** Those of the mount, and of `classic`, where system 3 has them. */
export const SIMULATION_PATHS = ["api/simulations", "api/health", "api/dlq"] as const;

@Module({
  imports: [CrmModule],
  providers: [
    {
      provide: Pacing,
      inject: [Holdfast, CRM, SETTINGS],
      useFactory: (hf: Holdfast, crm: Crm, { simulations }: Settings) => {
        const { create, act } = new SimulatedRecords(crm);
        return new Pacing(hf, { create, act, ...simulations, classify: classifyHubSpot });
      },
    },
    {
      provide: SIMULATIONS,
      inject: [Pacing],
      useFactory: (pacing: Pacing) => pacingMount(pacing),
    },
  ],
  exports: [Pacing, SIMULATIONS],
})
export class SimulationsModule {}
