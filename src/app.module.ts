import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Config } from './config/index.ts';
import { scriptBeside } from './git/index.ts';
import { systemClock } from './kernel/index.ts';
import type { Logger } from './kernel/index.ts';
import type { Connection, ConnectionSource } from './kubernetes/index.ts';
import { HEALTH_CHECKS, HealthController, ProfilingServer, PrometheusMetrics } from './observability/index.ts';
import type { HealthChecks } from './observability/index.ts';
import { Atoll } from './runtime/index.ts';

/** What the process has read before Nest starts. */
export interface AppOptions {
  readonly config: Config;
  readonly hub: Connection | ConnectionSource;
  readonly logger: Logger;
}

const LOGGER = Symbol('Logger');

/** The composition root: one replica, its health endpoints, its metrics. */
@Module({})
export class AppModule implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #atoll: Atoll;
  readonly #profiling: ProfilingServer;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();

  constructor(
    @Inject(Atoll) atoll: Atoll,
    @Inject(ProfilingServer) profiling: ProfilingServer,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#atoll = atoll;
    this.#profiling = profiling;
    this.#logger = logger;
  }

  /** The module for one process. */
  static forRoot(options: AppOptions): DynamicModule {
    return {
      module: AppModule,
      controllers: [HealthController],
      providers: [
        { provide: LOGGER, useValue: options.logger },
        { provide: PrometheusMetrics, useFactory: createMetrics },
        {
          provide: Atoll,
          useFactory: (metrics: PrometheusMetrics) => createAtoll(options, metrics),
          inject: [PrometheusMetrics],
        },
        { provide: ProfilingServer, useFactory: () => createProfiling(options) },
        { provide: HEALTH_CHECKS, useFactory: healthChecks, inject: [Atoll] },
      ],
    };
  }

  /** Serves at once; connects meanwhile. What cannot be started at all ends the process. */
  async onApplicationBootstrap(): Promise<void> {
    const port = await this.#profiling.start();
    if (port !== undefined) this.#logger.info('serving profiles', { url: `http://127.0.0.1:${port}/debug` });
    this.#atoll.start(this.#stopping.signal).catch((error: unknown) => {
      this.#logger.error('Atoll cannot start', { error });
      process.exitCode = 1;
      process.kill(process.pid, 'SIGTERM');
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.#stopping.abort();
    this.#profiling.stop();
    await this.#atoll.stop();
    this.#logger.info('stopped');
  }
}

function createMetrics(): PrometheusMetrics {
  const metrics = new PrometheusMetrics();
  metrics.collectProcessMetrics();
  return metrics;
}

function createAtoll({ config, hub, logger }: AppOptions, metrics: PrometheusMetrics): Atoll {
  const gitChild = scriptBeside(import.meta.url, 'git-child');
  return new Atoll({ config, hub, gitChild, clock: systemClock, random: Math.random, logger, metrics });
}

function createProfiling({ config, logger }: AppOptions): ProfilingServer {
  return new ProfilingServer({ port: config.profilingPort, clock: systemClock, logger });
}

function healthChecks(atoll: Atoll): HealthChecks {
  return { live: () => undefined, ready: () => atoll.notReady() };
}
