import { STATIC_SUFFIX } from '../../admission/manifests/static-suffix.ts';
import type { Gates } from '../../api/feature-gates.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { checked } from '../rules/checked.ts';

const GATE = 'ManifestBasedAdmissionControlConfig';

const isStatic = ({ metadata }: ApiObject): boolean => metadata.name?.endsWith(STATIC_SUFFIX) === true;

/** Reserves the names of objects that files configure, since 1.36: with that feature no others can be created. */
export const reservesStaticNames: Pick<Strategy, 'validateCreate' | 'warnings'> = {
  validateCreate: checked((at, object) => {
    if (at.isOn(GATE) && isStatic(object))
      at.field('metadata')
        .field('name')
        .invalid(
          object.metadata.name,
          `names ending with "${STATIC_SUFFIX}" are reserved for static manifest-based configurations and cannot be managed via the API`,
        );
  }),
  warnings: (object, old, isOn) =>
    isStatic(object) && warns(old, isOn)
      ? [
          `metadata.name: names ending with "${STATIC_SUFFIX}" will be reserved for static manifest-based configurations when the ${GATE} feature gate is enabled`,
        ]
      : [],
};

/** An update of what is there already always warns. */
const warns = (old: ApiObject | undefined, isOn: Gates | undefined): boolean =>
  (isOn?.minor ?? 0) >= 36 && (old !== undefined || isOn?.(GATE) !== true);
