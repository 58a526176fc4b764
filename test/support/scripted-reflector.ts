import { afterEach, beforeEach, vi } from 'vitest';
import { NotingTarget } from './scripted-server.ts';

/** What a reflector keeps current in a test, and what ends it. */
export interface ReflectorStage {
  stop: AbortController;
  target: NotingTarget;
}

/** A new target for each test of a file, in fake time; what runs is ended after it. */
export function useReflectorStage(): ReflectorStage {
  const stage: ReflectorStage = { stop: new AbortController(), target: new NotingTarget() };
  beforeEach(() => {
    vi.useFakeTimers();
    stage.stop = new AbortController();
    stage.target = new NotingTarget();
  });
  afterEach(() => {
    stage.stop.abort();
    vi.useRealTimers();
  });
  return stage;
}
