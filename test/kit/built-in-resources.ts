import { builtInResources } from '../../src/resources/all.ts';
import { DEFAULT_MINOR } from '../../src/version.ts';

/** As a server of the default version serves them. */
export const BUILT_IN_RESOURCES = builtInResources(DEFAULT_MINOR);
