/**
 * What operators see: the prom-client registry behind the `Metrics` port, pino behind the `Logger` port, the health
 * endpoints, and on the machine's own address a look inside (`profiling-server.ts`).
 *
 * Names and buckets of metrics are those of client-go and controller-runtime where they have one; the rooms that
 * count choose them. Readiness means "can serve"; a missing Redis is a metric and a log line, not unreadiness.
 *
 * @module
 */
export { HEALTH_CHECKS, HealthController } from './health.controller.ts';
export type { HealthChecks } from './health.controller.ts';
export { createLogger } from './pino-logger.ts';
export { ProfilingServer } from './profiling-server.ts';
export { PrometheusMetrics } from './prometheus-metrics.ts';
