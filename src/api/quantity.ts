import { z } from 'zod';

const QUANTITY = /^([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;
const ADVICE = 'must be a quantity such as 2, 500m or 4Gi';

/** A Kubernetes quantity that is not negative: an integer, or a text such as "500m" or "2Gi". */
export const quantitySchema = z
  .union([z.int().nonnegative(ADVICE), z.string().regex(QUANTITY, ADVICE)], ADVICE)
  .meta({ 'x-kubernetes-int-or-string': true });
