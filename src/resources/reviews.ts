import type { ResourceDefinition } from '../registry/resource-definition.ts';
import { define, type ResourceOutline } from './define.ts';

type ReviewOutline = Pick<ResourceOutline, 'group' | 'resource' | 'kind' | 'namespaced' | 'versions'>;

/** A question about users or their rights: a create is answered, and nothing is stored. */
const defineReview = (outline: ReviewOutline): ResourceDefinition =>
  define({
    ...outline,
    verbs: ['create'],
    isReview: true,
    exemptFrom: ['policies'],
    strategy: {
      allowUnconditionalUpdate: false,
    },
  });

export const selfsubjectreviews = defineReview({
  group: 'authentication.k8s.io',
  resource: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'authentication/v1.SelfSubjectReview' },
    {
      version: 'v1beta1',
      type: 'authentication/v1beta1.SelfSubjectReview',
      enabledByDefault: false,
      until: 33,
    },
    {
      version: 'v1alpha1',
      type: 'authentication/v1alpha1.SelfSubjectReview',
      enabledByDefault: false,
      until: 32,
    },
  ],
});

export const tokenreviews = defineReview({
  group: 'authentication.k8s.io',
  resource: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
  versions: [{ version: 'v1', type: 'authentication/v1.TokenReview' }],
});

export const localsubjectaccessreviews = ofRights('localsubjectaccessreviews', 'LocalSubjectAccessReview', {
  namespaced: true,
});

export const selfsubjectaccessreviews = ofRights('selfsubjectaccessreviews', 'SelfSubjectAccessReview');

export const selfsubjectrulesreviews = ofRights('selfsubjectrulesreviews', 'SelfSubjectRulesReview');

export const subjectaccessreviews = ofRights('subjectaccessreviews', 'SubjectAccessReview');

function ofRights(resource: string, kind: string, { namespaced = false } = {}): ResourceDefinition {
  return defineReview({
    group: 'authorization.k8s.io',
    resource,
    kind,
    namespaced,
    versions: [{ version: 'v1', type: `authorization/v1.${kind}` }],
  });
}
