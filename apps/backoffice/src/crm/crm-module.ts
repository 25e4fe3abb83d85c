/** System 4: members and payments that change are synced to HubSpot, or to its double. */
import { Module } from "@nestjs/common";
import { Holdfast } from "holdfast";
import { CfoModule } from "../cfo/cfo-module.ts";
import { SETTINGS, type Settings } from "../config/settings.ts";
import { Data } from "../data/data.ts";
import { CrmChanges } from "./crm-changes.ts";
import { CrmController } from "./crm-controller.ts";
import { CRM, crmOf } from "./crm.ts";
import { CrmCloser, CrmTarget } from "./crm-target.ts";
import { MembersController } from "./members-controller.ts";
import { Members } from "./members.ts";
import { StaffAlerts } from "./staff-alerts.ts";

@Module({
  imports: [CfoModule],
  controllers: [MembersController, CrmController],
  providers: [
    {
      provide: CrmTarget,
      // After those: a start that fails because a database is away has no double that keeps it alive.
      inject: [SETTINGS, Data, Holdfast],
      useFactory: ({ crm }: Settings) => CrmTarget.open(crm),
    },
    {
      provide: CRM,
      inject: [Holdfast, CrmTarget, SETTINGS],
      useFactory: (hf: Holdfast, target: CrmTarget, { crm }: Settings) => crmOf(hf, target, crm),
    },
    ...[CrmCloser, CrmChanges, Members, StaffAlerts],
  ],
  exports: [CRM, CrmTarget, Members],
})
export class CrmModule {}
