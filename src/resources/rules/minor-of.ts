import type { Minor } from '../../api/emulation.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { DEFAULT_MINOR } from '../../version.ts';

/** The version whose rules hold for an object. */
export const minorOf = ({ isOn }: Pick<FieldPath, 'isOn'>): Minor => isOn.minor ?? DEFAULT_MINOR;
