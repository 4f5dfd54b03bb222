import type { StatusError } from '../api/status.ts';
import { forbidden } from '../api/status.ts';
import type { AdmissionAttributes } from './admission.ts';

/** What a plugin throws: 403, naming the object. One whose name is yet to be made goes by what its name will begin with. */
export function refusal({ definition, name, object }: AdmissionAttributes, why: string): StatusError {
  const generateName = object?.metadata.generateName;
  return forbidden(
    definition,
    name || (typeof generateName === 'string' ? generateName : '') || 'Unknown',
    why,
  );
}

/** Several reasons at once, each told once. Empty: there is none to refuse. */
export function refuseFor(attributes: AdmissionAttributes, reasons: readonly string[]): void {
  const [first, ...others] = new Set(reasons);
  if (first === undefined) return;
  throw refusal(attributes, others.length === 0 ? first : `[${[first, ...others].join(', ')}]`);
}
