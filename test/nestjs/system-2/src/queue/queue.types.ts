export type { IJobHandler, JobResult } from '@holdfast/nestjs';
