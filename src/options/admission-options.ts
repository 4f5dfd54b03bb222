import {
  ADMISSION_PLUGINS,
  type AdmissionPluginName,
  findPlugin,
  PLUGIN_NAMES,
} from '../admission/all-plugins.ts';
import { UsageError } from './flag.ts';
import { type FlagValues, nearestName } from './parse.ts';

/** Which plugins look at writes. */
export interface AdmissionOptions {
  /** In the order they run. */
  readonly plugins: readonly AdmissionPluginName[];
  /** Empty: every plugin has its defaults. */
  readonly configFile: string;
}

/** @throws UsageError */
export function readAdmission(flags: FlagValues): AdmissionOptions {
  const enabled = readNames(flags, 'enable-admission-plugins');
  const disabled = readNames(flags, 'disable-admission-plugins');
  const both = [...enabled].find((name) => disabled.has(name));
  if (both !== undefined)
    throw new UsageError(
      `--enable-admission-plugins and --disable-admission-plugins both name ${both}: name it in one of them`,
    );
  return {
    plugins: ADMISSION_PLUGINS.filter(
      ({ name, isDefault }) => enabled.has(name) || (isDefault && !disabled.has(name)),
    ).map(({ name }) => name),
    configFile: flags.string('admission-control-config-file'),
  };
}

function readNames(flags: FlagValues, flag: string): ReadonlySet<AdmissionPluginName> {
  return new Set(
    flags.strings(flag).map((name) => {
      const plugin = findPlugin(name);
      if (plugin !== undefined) return plugin.name;
      const nearest = nearestName(name, PLUGIN_NAMES) ?? PLUGIN_NAMES.join(', ');
      throw new UsageError(`--${flag}: no plugin is called ${JSON.stringify(name)}; it must be ${nearest}`);
    }),
  );
}
