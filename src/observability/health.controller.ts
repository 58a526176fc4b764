import { Controller, Get, HttpCode, HttpException, Inject, Res } from '@nestjs/common';
import { PrometheusMetrics } from './prometheus-metrics.ts';

/** Answers why the process is not ready or not alive; undefined means that it is. */
export interface HealthChecks {
  live(): string | undefined;
  ready(): string | undefined;
}

/** The injection token of {@link HealthChecks}. */
export const HEALTH_CHECKS = Symbol('HealthChecks');

/** What of a response is used here; both of Nest's platforms have it. */
interface Response {
  type(contentType: string): { send(body: string): void };
}

/** `/livez`, `/readyz` and `/metrics`, as kube-apiserver and controller-runtime name them. */
@Controller()
export class HealthController {
  readonly #checks: HealthChecks;
  readonly #metrics: PrometheusMetrics;

  constructor(@Inject(HEALTH_CHECKS) checks: HealthChecks, @Inject(PrometheusMetrics) metrics: PrometheusMetrics) {
    this.#checks = checks;
    this.#metrics = metrics;
  }

  @Get('livez')
  @HttpCode(200)
  live(): string {
    return answer(this.#checks.live());
  }

  @Get('readyz')
  @HttpCode(200)
  ready(): string {
    return answer(this.#checks.ready());
  }

  @Get('metrics')
  async metrics(@Res() response: Response): Promise<void> {
    const { contentType, text } = await this.#metrics.expose();
    response.type(contentType).send(text);
  }
}

function answer(problem: string | undefined): string {
  if (problem !== undefined) throw new HttpException(problem, 503);
  return 'ok';
}
