import { UsageError } from './usage-error.ts';

/** Reads "region=eu,tier=prod". @throws UsageError naming the pair that is none */
export function parseLabels(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', value, ...rest] = pair.split('=');
      if (key === '' || value === undefined || rest.length > 0) {
        throw new UsageError(`--labels: ${JSON.stringify(pair)} is not KEY=VALUE`);
      }
      return [key, value];
    }),
  );
}
