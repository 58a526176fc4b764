import { AtollError } from '../kernel/index.ts';

/** Reads "region=eu,tier=prod". @throws AtollError naming the pair that is none */
export function parseLabels(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', value, ...rest] = pair.split('=');
      if (key === '' || value === undefined || rest.length > 0) {
        throw new AtollError(`--labels: ${JSON.stringify(pair)} is not KEY=VALUE`);
      }
      return [key, value];
    }),
  );
}
