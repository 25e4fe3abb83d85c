import { Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { HoldfastModule, optionsFromConfig } from '@holdfast/nestjs';
import { QueueModule } from './queue/queue.module';

/** As the text has it: three variables, each with its default. */
const configuration = () => ({
  queue: {
    url: process.env['QUEUE_URL'] ?? 'memory:',
    pollMs: process.env['QUEUE_POLL_MS'] ?? 5000,
    maxAttempts: process.env['QUEUE_MAX_ATTEMPTS'] ?? 3,
    stuckThresholdMs: process.env['QUEUE_STUCK_THRESHOLD_MS'] ?? 300000,
  },
});

@Module({
  imports: [
    ConfigModule.forRoot({ load: [configuration], ignoreEnvFile: true }),
    HoldfastModule.forRootAsync({
      imports: [ConfigModule],
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        url: config.get<string>('queue.url'),
        ...optionsFromConfig(config),
      }),
    }),
    QueueModule,
  ],
})
export class AppModule {}
