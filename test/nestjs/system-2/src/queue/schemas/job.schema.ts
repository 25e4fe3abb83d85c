export type { JobDocument } from '@holdfast/nestjs';
