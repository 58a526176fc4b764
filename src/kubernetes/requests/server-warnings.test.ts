import { beforeEach, expect, test } from 'vitest';
import { RecordingLogger } from '../../../test/support/recording-logger.ts';
import { noMetrics } from '../../kernel/index.ts';
import type { Metrics } from '../../kernel/index.ts';
import { ClientMetrics } from './client-metrics.ts';
import { ServerWarnings } from './server-warnings.ts';

let counted: number;
let logger: RecordingLogger;
let warnings: ServerWarnings;

beforeEach(() => {
  counted = 0;
  logger = new RecordingLogger();
  const metrics: Metrics = { ...noMetrics, counter: () => ({ inc: () => (counted += 1) }) };
  warnings = new ServerWarnings(logger, new ClientMetrics(metrics, 'eu-1'));
});

test('a warning is counted each time and logged once', () => {
  for (let index = 0; index < 5; index += 1) warnings.note('/api/v1/pods', '299 - "v1 Pods are old"');
  warnings.note('/api/v1/pods', undefined);
  expect(counted).toBe(5);
  expect(logger.lines).toMatchObject([
    {
      level: 'warn',
      message: 'API server warns',
      fields: { warning: '299 - "v1 Pods are old"', path: '/api/v1/pods' },
    },
  ]);
});

test('a server that varies its words is logged so often and no more', () => {
  for (let index = 0; index < 1000; index += 1)
    warnings.note('/api/v1/pods', `299 - "${index} ${'x'.repeat(100_000)}"`);
  expect(counted).toBe(1000);
  expect(logger.lines).toHaveLength(256);
  expect(String(logger.lines[0]?.fields['warning'])).toHaveLength(512);
});

test.each([
  ['/api/v1/secrets', 0],
  ['/api/v1/namespaces/shop/secrets/password', 0],
  ['/api/v1/namespaces/secrets', 1],
  ['/apis/example.com/v1/namespaces/shop/secrets', 1],
])('what is said about %s is logged %i times', (path, lines) => {
  warnings.note(path, '299 - "data.password: hunter2"');
  expect(counted).toBe(1);
  expect(logger.lines).toHaveLength(lines);
});
