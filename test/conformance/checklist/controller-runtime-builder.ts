import { COVERED } from './verdict.ts';
import type { Checklist } from './verdict.ts';

/** controller-runtime v0.25: the builder of controllers. */
export const controllerRuntimeBuilder: Checklist = {
  'pkg/builder/controller_test.go': {
    'Builder/New/should return success if given valid objects': COVERED,
    'Builder/New/should return error if given two apiType objects in For function': {
      skipped: "a builder's types rule it out: one for(), one reconciler, and attaching is constructing",
    },
    'Builder/New/should return an error if For and Named function are not called': {
      skipped: 'a controller always has a kind: by for(), or by of()',
    },
    'Builder/New/should return an error when using Owns without For': COVERED,
    'Builder/New/should return an error when there are no watches': COVERED,
    'Builder/New/should allow creating a controller without calling For': COVERED,
    "Builder/New/should return an error if there is no GVK for an object, and thus we can't default the controller name":
      { skipped: "Go's generic types and schemes have no counterpart" },
    'Builder/New/should return error if in For is used with a custom request type': {
      skipped: "Go's generic types and schemes have no counterpart",
    },
    'Builder/New/should return error if in Owns is used with a custom request type': {
      skipped: "Go's generic types and schemes have no counterpart",
    },
    'Builder/New/should build a controller with a custom request type': {
      skipped: "Go's generic types and schemes have no counterpart",
    },
    'Builder/New/should return an error if it cannot create the controller': {
      skipped: 'creating opens nothing, so nothing can fail but what the other tests name',
    },
    'Builder/New/should override max concurrent reconcilers during creation of controller': {
      elsewhere: 'src/workqueue/metrics.test.ts',
      test: 'show how many workers a kind uses, and how many it may',
    },
    'Builder/New/should override max concurrent reconcilers during creation of controller, when using': {
      skipped: 'there is no component configuration beside the options',
    },
    'Builder/New/should override rate limiter during creation of controller': {
      skipped: "the rate limit is the queue's own",
    },
    'Builder/New/should override logger during creation of controller': COVERED,
    'Builder/New/should not allow multiple reconcilers during creation of controller': {
      skipped: "a builder's types rule it out: one for(), one reconciler, and attaching is constructing",
    },
    'Builder/New/should allow multiple controllers for the same kind': COVERED,
    'Builder/Start with ControllerManagedBy/should Reconcile Owns objects': COVERED,
    'Builder/Start with ControllerManagedBy/should Reconcile Owns objects for every owner': {
      skipped: 'only controllers own here: there is no match of every owner',
    },
    'Builder/Start with ControllerManagedBy/should Reconcile Watches objects': COVERED,
    'Builder/Start with ControllerManagedBy/should Reconcile without For': COVERED,
    'Builder/Set custom predicates/should execute registered predicates only for assigned kind': COVERED,
    'Builder/watching with projections/should support multiple controllers watching the same metadata kind': {
      skipped: 'metadata-only is a form of an informer: src/informers; a controller reads its kinds whole',
    },
    'Builder/watching with projections/should support watching For, Owns, and Watch as metadata': {
      skipped: 'metadata-only is a form of an informer: src/informers; a controller reads its kinds whole',
    },
  },
};
