import { expect, it } from 'vitest';
import { parseClaim } from './shard-leases.ts';

it.each([
  ['pod-a_1f|1764592345123', { replica: 'pod-a_1f', epoch: 1_764_592_345_123 }],
  ['a|b|7', { replica: 'a|b', epoch: 7 }],
  ['|7', { replica: '', epoch: 7 }],
  ['', { replica: '', epoch: 0 }],
  ['pod-a', { replica: '', epoch: 0 }],
  ['pod-a|seven', { replica: '', epoch: 0 }],
])('the claim %j', (text, claim) => {
  expect(parseClaim(text)).toEqual(claim);
});
