import { z } from 'zod';

import { textSchema } from './text.ts';

/** A path as API servers write it: fields by dots, list items by their keys, an item of a set by its value. */
const IGNORED_PATH = /^\.?[^.[\]]+(\.[^.[\]]+|\[[^[\]]+\])*$/;

const ignoreRuleSchema = z.strictObject({
  kind: textSchema(63, /^[A-Z][A-Za-z0-9]*$/, 'a kind such as Deployment')
    .exactOptional()
    .describe('Kind of the object that the rule is for: the object itself (when absent), or one that is made for it.'),
  path: textSchema(512, IGNORED_PATH, 'a path such as spec.template.spec.containers[name="app"].image').describe(
    'The field, and all below it, in the notation of server-side apply.',
  ),
  mode: z
    .enum(['Strip', 'Adopt'])
    .describe(
      'Strip: the field is never sent. Adopt: it is sent at creation, and later with the value that it has then.',
    ),
});

/** What to do in delicate situations. */
export const policySchema = z.strictObject({
  adoption: z
    .enum(['Fail', 'Adopt'])
    .default('Fail')
    .describe('What to do where the object exists already and is not ours: report it, or take it over.'),
  updates: z
    .enum(['Always', 'Never'])
    .default('Always')
    .describe('Never: the object is created once, and then left as it is.'),
  conflicts: z
    .enum(['Report', 'Force'])
    .default('Report')
    .describe(
      'Fields that other field managers hold: left to them and reported, or taken. An autoscaler keeps its own.',
    ),
  ignore: z.array(ignoreRuleSchema).max(64).exactOptional().describe("Fields that are others' by agreement."),
  deletion: z
    .strictObject({
      policy: z
        .enum(['Delete', 'Orphan'])
        .default('Delete')
        .describe('What becomes of the object in the member clusters when it is withdrawn: deleted, or left there.'),
      adopted: z
        .enum(['Delete', 'Orphan'])
        .default('Orphan')
        .describe('The same for an object that was there before and was taken over.'),
    })
    .prefault({})
    .describe('What happens when the object is deleted or leaves a cluster.'),
});
