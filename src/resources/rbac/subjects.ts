import type { ApiObject } from '../../api/object-meta.ts';
import { parts, text } from '../../object/parts.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';
export const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group'] as const;

/** Users and groups belong to the RBAC group, service accounts to the core group. */
export function defaultSubjects(binding: ApiObject): void {
  for (const subject of parts(binding, 'subjects')) {
    if (text(subject.apiGroup) !== '') continue;
    if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup = RBAC_GROUP;
  }
}
