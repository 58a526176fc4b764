import { expect, it } from 'vitest';
import { join } from './join.ts';
import { UsageError } from './usage-error.ts';

it.each([
  ['no name', []],
  ['two names', ['eu-1', 'us-1']],
  ['no hub', ['eu-1', '--kubeconfig', 'member.kubeconfig']],
  ['no member', ['eu-1', '--hub-kubeconfig', 'hub.kubeconfig']],
  ['labels that are none', ['eu-1', '--labels', 'prod']],
])('refuses to join with %s, before any kubeconfig is read', async (_, parameters) => {
  await expect(join(parameters)).rejects.toThrow(UsageError);
});
