import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

/** Loaded into a server before its own modules, so that it believes to have four cores. */
os.availableParallelism = () => 4;
syncBuiltinESMExports();
