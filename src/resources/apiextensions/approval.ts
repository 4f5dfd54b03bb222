import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';

/** Groups of the Kubernetes community are for APIs that it has reviewed, or that say they have not been. */
const ANNOTATION = 'api-approved.kubernetes.io';
const PROTECTED = /(?:^|\.)(?:k8s|kubernetes)\.io$/;
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

export function validateApproval(definition: ApiObject): FieldError[] {
  if (!PROTECTED.test(text(part(definition, 'spec').group))) return [];
  const field = `metadata.annotations[${ANNOTATION}]`;
  const approval = definition.metadata.annotations?.[ANNOTATION] ?? '';
  const must = `protected groups must have approval annotation "${ANNOTATION}"`;
  if (approval === '') return [required(field, `${must}, ${SEE}`)];
  if (approval.startsWith('unapproved') || isUrl(approval)) return [];
  const why = `${must} with either a URL or a reason starting with "unapproved", ${SEE}`;
  return [invalidValue(field, approval, why)];
}

const isUrl = (value: string): boolean => URL.canParse(value) && new URL(value).host !== '';
