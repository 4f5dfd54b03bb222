import type { ApiObject } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import { part } from '../../object/parts.ts';
import { podTemplateWarnings } from '../pod/pod-warnings.ts';
import { podNameWarnings } from './pod-name-warning.ts';

/** Warnings about the template at `spec.template`; who changes nothing there has read them already. */
export function templateWarnings(object: ApiObject, old: ApiObject | undefined): string[] {
  if (old !== undefined && equal(object.spec, old.spec)) return [];
  return podTemplateWarnings(part(object, 'spec', 'template'), 'spec.template');
}

/** For what calls its pods after itself without a number. */
export function nameAndTemplateWarnings(object: ApiObject, old: ApiObject | undefined): string[] {
  return [...podNameWarnings(object, old), ...templateWarnings(object, old)];
}
