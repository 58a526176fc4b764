import { z } from 'zod';

import { FORM } from './structural-schema.ts';

const QUANTITY = /^([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;
const QUANTITY_FORM = 'a quantity such as 2, 500m or 4Gi';

/** A Kubernetes quantity that is not negative: an integer, or a text such as "500m" or "2Gi". */
export const quantitySchema = z
  .union(
    [z.int().nonnegative(`must be ${QUANTITY_FORM}`), z.string().regex(QUANTITY, `must be ${QUANTITY_FORM}`)],
    `must be ${QUANTITY_FORM}`,
  )
  .meta({ 'x-kubernetes-int-or-string': true, [FORM]: QUANTITY_FORM });
