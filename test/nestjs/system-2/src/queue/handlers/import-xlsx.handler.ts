import { Injectable } from '@nestjs/common';
import {
  CustomerRepository,
  ImportSummary,
  parseXlsxFile,
  summary,
} from '../../customers/customer.repository';
import { IJobHandler } from '../queue.types';
import { JobDocument } from '../schemas/job.schema';

@Injectable()
export class ImportXlsxHandler implements IJobHandler {
  constructor(private readonly customerRepository: CustomerRepository) {}

  async handle(job: JobDocument): Promise<ImportSummary> {
    const { filePath } = job.payload;

    // Parse XLSX
    const rows = parseXlsxFile(filePath);

    // Validate and import
    for (const row of rows) {
      // Validation logic
      // Import logic
    }

    return summary;
  }
}
