import type { ResourceDefinition } from '../registry/definition.ts';
import { define, type ResourceOutline } from './define.ts';

type ReviewOutline = Pick<ResourceOutline, 'group' | 'resource' | 'kind' | 'namespaced' | 'versions'>;

/** A question about users or their rights: a create is answered, and nothing is stored. */
export const defineReview = (outline: ReviewOutline): ResourceDefinition =>
  define({
    ...outline,
    verbs: ['create'],
    isReview: true,
    exemptFrom: ['policies'],
    strategy: {
      allowUnconditionalUpdate: false,
    },
  });
