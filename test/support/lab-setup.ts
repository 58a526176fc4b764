/**
 * Vitest's global set-up of the projects that need real parts: one lab for all of them, started by the first and
 * stopped by the last. `ATOLL_TEST_LAB=<description.json>` names a lab that runs already and is left running.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type Lab, type LabDescription, startLab } from '../lab/index.ts';

declare module 'vitest' {
  interface ProvidedContext {
    lab: LabDescription;
  }
}

interface SharedLab {
  users: number;
  readonly lab: Promise<Lab>;
}

/** Vitest evaluates this module once per project, so what they share cannot be the module's own. */
const shared = globalThis as { atollSharedLab?: SharedLab };

export async function setup(project: TestProject): Promise<void> {
  const description = process.env['ATOLL_TEST_LAB'] ?? join((await useSharedLab()).directory, 'description.json');
  project.provide('lab', JSON.parse(await readFile(description, 'utf8')) as LabDescription);
}

export async function teardown(): Promise<void> {
  const current = shared.atollSharedLab;
  if (current === undefined) return;
  current.users -= 1;
  if (current.users > 0) return;
  delete shared.atollSharedLab;
  await (await current.lab).stop();
}

async function useSharedLab(): Promise<Lab> {
  shared.atollSharedLab ??= {
    users: 0,
    lab: startLab({
      members: ['eu-1', 'us-1', 'ap-1'],
      audit: true,
      workloads: true,
      progress: (line) => console.log(`lab: ${line}`),
    }),
  };
  shared.atollSharedLab.users += 1;
  return shared.atollSharedLab.lab;
}
