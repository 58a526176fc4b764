import type { ClusterName, Counter, Histogram, Metrics } from '../../kernel/index.ts';

/** client-go's buckets for durations, in seconds. */
const DURATIONS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
/** client-go's buckets for sizes, in bytes. */
const SIZES = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/**
 * What is counted of the requests to one API server, under client-go's names. Counters bear the cluster in the place of
 * client-go's `host`. Histograms bear none: a dozen buckets for each verb of each cluster would be most of all series.
 */
export class ClientMetrics {
  readonly #cluster: ClusterName;
  readonly #requests: Counter;
  readonly #retries: Counter;
  readonly #connections: Counter;
  readonly #warnings: Counter;
  readonly #durations: Histogram;
  readonly #waits: Histogram;
  readonly #requestSizes: Histogram;
  readonly #responseSizes: Histogram;

  constructor(metrics: Metrics, cluster: ClusterName) {
    this.#cluster = cluster;
    this.#requests = metrics.counter({
      name: 'rest_client_requests_total',
      help: 'Requests to API servers by status code, method and cluster; <error> is one without an answer',
      labelNames: ['code', 'method', 'cluster'],
    });
    this.#retries = metrics.counter({
      name: 'rest_client_request_retries_total',
      help: 'Requests that were sent again, by the status code that was the reason, verb and cluster',
      labelNames: ['code', 'verb', 'cluster'],
    });
    this.#connections = metrics.counter({
      name: 'rest_client_connections_total',
      help: 'Connections (TLS handshakes) to API servers, by protocol, result and cluster',
      labelNames: ['protocol', 'result', 'cluster'],
    });
    this.#warnings = metrics.counter({
      name: 'rest_client_warnings_total',
      help: 'Answers of API servers that bore a warning, by cluster',
      labelNames: ['cluster'],
    });
    this.#durations = histogram(metrics, 'request_duration_seconds', 'Time from a request to its answer', DURATIONS);
    this.#waits = histogram(
      metrics,
      'rate_limiter_duration_seconds',
      "Time that a request waited for its turn in its cluster's budget",
      DURATIONS,
    );
    this.#requestSizes = histogram(metrics, 'request_size_bytes', 'Size of the bodies of requests', SIZES);
    this.#responseSizes = histogram(metrics, 'response_size_bytes', 'Size of the bodies of answers', SIZES);
  }

  /** A request was sent, and answered or not. */
  sent(verb: string, code: string, seconds: number): void {
    this.#requests.inc({ code, method: verb, cluster: this.#cluster });
    this.#durations.observe({ verb }, seconds);
  }

  /** How large the bodies were; not of streams. */
  exchanged(verb: string, requestBytes: number, responseBytes: number): void {
    this.#requestSizes.observe({ verb }, requestBytes);
    this.#responseSizes.observe({ verb }, responseBytes);
  }

  waited(verb: string, seconds: number): void {
    this.#waits.observe({ verb }, seconds);
  }

  repeated(verb: string, code: string): void {
    this.#retries.inc({ code, verb, cluster: this.#cluster });
  }

  dialed(protocol: 'h2' | 'http/1.1', result: 'success' | 'failure'): void {
    this.#connections.inc({ protocol, result, cluster: this.#cluster });
  }

  warned(): void {
    this.#warnings.inc({ cluster: this.#cluster });
  }
}

function histogram(metrics: Metrics, name: string, help: string, buckets: readonly number[]): Histogram {
  return metrics.histogram({
    name: `rest_client_${name}`,
    help: `${help}, by verb`,
    labelNames: ['verb'],
    buckets,
  });
}
