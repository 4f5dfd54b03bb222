/**
 * Groups of the Kubernetes community are for APIs that it has reviewed, or that are marked as not reviewed (Kubernetes:
 * apiextensions-apiserver, pkg/apihelpers).
 */

export const APPROVAL_ANNOTATION = 'api-approved.kubernetes.io';

export const isProtectedGroup = (group: string): boolean => /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group);

interface Approval {
  readonly state: 'Approved' | 'Unapproved' | 'Missing' | 'Invalid';
  readonly message: string;
}

const MUST = `protected groups must have approval annotation "${APPROVAL_ANNOTATION}"`;
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

export function approvalOf(annotations: Readonly<Record<string, string>> = {}): Approval {
  const approval = annotations[APPROVAL_ANNOTATION] ?? '';
  if (approval === '') return { state: 'Missing', message: `${MUST}, ${SEE}` };
  if (approval.startsWith('unapproved'))
    return { state: 'Unapproved', message: `not approved: ${JSON.stringify(approval)}` };
  return isUrl(approval)
    ? { state: 'Approved', message: `approved in ${approval}` }
    : {
        state: 'Invalid',
        message: `${MUST} with either a URL or a reason starting with "unapproved", ${SEE}`,
      };
}

const isUrl = (value: string): boolean => URL.canParse(value) && new URL(value).host !== '';
