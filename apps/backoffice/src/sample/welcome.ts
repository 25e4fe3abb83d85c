/** What a person reads first: where it is, who can log in, what to try. */
import { resolve } from "node:path";
import { hideCredentials } from "holdfast/env";
import type { Settings } from "../config/settings.ts";
import { SAMPLE_COMPANIES } from "../data/sample-companies.ts";
import type { SampleUser } from "../data/seed.ts";
import { SAMPLE_SHEET } from "./sample-inbox.ts";

export interface WelcomeParts {
  readonly url: string;
  readonly settings: Settings;
  /** Whose passwords may be shown: of the sample, on this machine. */
  readonly users: readonly SampleUser[];
  readonly isSampling: boolean;
}

export function welcome({ url, settings, users, isSampling }: WelcomeParts): string {
  const { jobsUrl, ledgerUrl, dataUrl, queue, imports } = settings;
  const admin = users.find(({ role }) => role === "admin");
  const company = SAMPLE_COMPANIES[0]?.id ?? "";
  return [
    `The back office is running${isSampling ? ", with a little sample business" : ""}.`,
    "",
    `  dashboard  ${url}/`,
    `  health     ${url}/health`,
    `  metrics    ${url}/metrics`,
    `  jobs in    ${hideCredentials(jobsUrl)} (queue ${queue})`,
    ...(ledgerUrl === undefined ? [] : [`  ledger in  ${hideCredentials(ledgerUrl)}`]),
    `  data in    ${hideCredentials(dataUrl)}`,
    `  inbox      ${resolve(imports.inbox)}`,
    ...(users.length === 0 ? [] : ["", "Who can log in (sample users, on this machine only):"]),
    ...users.map(
      ({ email, password, role, companyId }) =>
        `  ${email.padEnd(26)} ${password.padEnd(16)} ${role === "operator" ? "staff" : role}${companyId === null ? "" : ", of one company"}`,
    ),
    ...(admin ? ["", "What to try, in another terminal:", ...lines(url, admin, company)] : []),
    ...(admin && isSampling ? importLines(url) : []),
    "",
    "  Ctrl-C               stops it cleanly: running jobs end or are handed back",
    "  npm start -- --tour  a tour of the library that ends by itself",
    "  npm start -- --live  the smallest server and worker, without Nest",
  ].join("\n");
}

function importLines(url: string): string[] {
  const head = '-H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json"';
  return [
    `  curl ${head} -d '{"filename":"${SAMPLE_SHEET}"}' ${url}/api/v1/imports/xlsx`,
    `  curl ${head} ${url}/api/v1/imports`,
  ];
}

function lines(url: string, { email, password }: SampleUser, company: string): string[] {
  const auth = '-H "Authorization: Bearer $TOKEN"';
  const json = '-H "Content-Type: application/json"';
  const login = `curl -s ${json} -d '{"email":"${email}","password":"${password}"}' ${url}/api/auth/login`;
  return [
    `  TOKEN=$(${login} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    `  curl ${auth} ${url}/api/admin/queue/health`,
    `  curl ${auth} -X POST ${json} -d '{}' ${url}/api/companies/${company}/snapshots`,
    `  curl ${auth} ${url}/api/companies/${company}/snapshots`,
    `  curl ${auth} ${url}/api/job-types`,
    `  curl ${auth} ${url}/api/outbox`,
    `  curl ${auth} ${url}/api/crm/monitor`,
    `  curl ${auth} ${url}/api/simulations`,
  ];
}
