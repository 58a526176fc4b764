import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.ts';
import { ConfigError, readConfig } from './config/index.ts';
import type { Config } from './config/index.ts';
import { errorMessage, systemClock } from './kernel/index.ts';
import type { Logger } from './kernel/index.ts';
import { InClusterConnection, parseKubeconfig } from './kubernetes/index.ts';
import type { Connection, ConnectionSource } from './kubernetes/index.ts';
import { createLogger } from './observability/index.ts';

/** What a signal asks for. */
type Stop = (signal: NodeJS.Signals) => void;

/**
 * Starts one replica, and returns when it serves health and metrics.
 *
 * @param onceStoppable is given what stops the replica in order and exits 0, as soon as there is something to stop
 */
export async function startReplica(onceStoppable: (stop: Stop) => void): Promise<void> {
  const config = readConfig();
  const logger = createLogger({ level: config.logLevel, base: { replica: config.replica } });
  const app = await NestFactory.create(AppModule.forRoot({ config, hub: hubConnection(config, logger), logger }), {
    logger: false,
  });
  onceStoppable((signal) => stop(app, { signal, logger }));
  await app.listen(config.healthPort, config.bindAddress);
  logger.info('serving health and metrics', { url: await app.getUrl() });
}

function hubConnection({ hubKubeconfig, inCluster }: Config, logger: Logger): Connection | ConnectionSource {
  if (hubKubeconfig !== undefined) return parseKubeconfig(readKubeconfig(hubKubeconfig));
  if (inCluster === undefined) throw new ConfigError('no hub is configured');
  return InClusterConnection.open({ ...inCluster, clock: systemClock, logger });
}

function readKubeconfig(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`ATOLL_HUB_KUBECONFIG: cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

/** Nest's own shutdown hooks end the process by the signal; a controller that stopped in order exits 0 instead. */
function stop(app: INestApplicationContext, { signal, logger }: { signal: NodeJS.Signals; logger: Logger }): void {
  logger.info('stopping', { signal });
  app.close().then(
    () => process.exit(),
    (error: unknown) => {
      logger.error('did not stop in order', { error });
      process.exit(1);
    },
  );
}
