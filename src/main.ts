import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.ts';
import { ConfigError, readConfig } from './config/index.ts';
import type { Config } from './config/index.ts';
import { AtollError, errorMessage, systemClock } from './kernel/index.ts';
import type { Logger } from './kernel/index.ts';
import { InClusterConnection, parseKubeconfig } from './kubernetes/index.ts';
import type { Connection, ConnectionSource } from './kubernetes/index.ts';
import { createLogger } from './observability/index.ts';

/** Starts one replica. SIGTERM and SIGINT stop it in order; it then exits 0. */
async function main(): Promise<void> {
  const config = readConfig();
  const logger = createLogger({ level: config.logLevel, base: { replica: config.replica } });
  const app = await NestFactory.create(AppModule.forRoot({ config, hub: hubConnection(config, logger), logger }), {
    logger: false,
  });
  stopOnSignals(app, logger);
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
function stopOnSignals(app: INestApplicationContext, logger: Logger): void {
  const stop = (signal: NodeJS.Signals): void => {
    logger.info('stopping', { signal });
    app.close().then(
      () => process.exit(),
      (error: unknown) => {
        logger.error('did not stop in order', { error });
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

main().catch((error: unknown) => {
  const text = error instanceof AtollError ? error.message : String(error instanceof Error ? error.stack : error);
  process.stderr.write(`atoll: ${text}\n`);
  process.exit(1);
});
