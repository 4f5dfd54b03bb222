import type { ResourceDefinition } from '../../registry/definition.ts';
import { defineReview } from '../review.ts';

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
