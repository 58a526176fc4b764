export { GitSourceReconciler } from './git-source-reconciler.ts';
export { HubObjects } from './hub-objects.ts';
export { Inventories, inventoryRules } from './inventory.ts';
