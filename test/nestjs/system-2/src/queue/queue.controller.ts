import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { type EnqueueJobDto, JobStatus, QueueService } from '@holdfast/nestjs';

@Controller('queue')
export class QueueController {
  constructor(private readonly queueService: QueueService) {}

  @Post('enqueue')
  enqueue(@Body() dto: EnqueueJobDto) {
    return this.queueService.enqueue(dto);
  }

  @Get()
  list(
    @Query('status') status?: JobStatus,
    @Query('type') type?: string,
    @Query('limit') limit?: string,
  ) {
    return this.queueService.getJobs(status, type, limit);
  }

  @Get(':id')
  one(@Param('id') id: string) {
    return this.queueService.getJobById(id);
  }
}
