import { BODIES } from './bodies.ts';
import { describeHarmless } from './harmless.ts';
import { OBJECTS } from './objects.ts';
import { YAML_BODIES } from './yaml-bodies.ts';

describeHarmless({ bodies: BODIES, 'bodies in YAML': YAML_BODIES, 'objects of many parts': OBJECTS });
