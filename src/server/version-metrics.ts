import { gatesOf } from '../api/feature-gates.ts';
import type { Instrument } from '../observability/instruments.ts';
import type { ServerOptions } from '../options/options.ts';
import type { VersionInfo } from '../version.ts';

/** With which versions the server is compatible, by Kubernetes' metric of this name; there since 1.33. */
export function versionInfo({ emulated, ...api }: ServerOptions['api']): Instrument {
  const compatible: number = api.compatible ?? emulated - 1;
  const name = 'version_info';
  const labels = {
    ...{ component: 'kube', binary: `1.${emulated}`, emulation: `1.${emulated}` },
    min_compat: `1.${compatible}`,
  };
  const help = 'Always 1, with the versions that the server emulates and is compatible with as labels.';
  const family = { name, help, type: 'gauge', samples: [{ name, labels, value: 1 }] } as const;
  return { name, collect: () => family };
}

/** Which feature gates are on, by Kubernetes' metric of this name. */
export function featureInfo({ emulated, featureGates }: ServerOptions['api']): Instrument {
  const samples = [...gatesOf(emulated)].map(([gate, { stage }]) => ({
    name: 'kubernetes_feature_enabled',
    labels: { name: gate, stage: stage === 'GA' ? '' : stage.toUpperCase() },
    value: featureGates.isEnabled(gate) ? 1 : 0,
  }));
  const help = 'Whether a feature gate is on; its stage is empty for a stable one.';
  const family = { name: 'kubernetes_feature_enabled', help, type: 'gauge', samples } as const;
  return { name: family.name, collect: () => family };
}

/** The version that is emulated, as kube-apiserver's metric of this name tells its own. */
export function buildInfo(version: VersionInfo): Instrument {
  const name = 'kubernetes_build_info';
  const { major, minor, platform } = version;
  const labels = {
    ...{ build_date: version.buildDate, compiler: version.compiler, git_commit: version.gitCommit },
    ...{ git_tree_state: version.gitTreeState, git_version: version.gitVersion },
    ...{ go_version: version.goVersion, major, minor, platform },
  };
  const help = 'Always 1, with the emulated version as labels.';
  const family = { name, help, type: 'gauge', samples: [{ name, labels, value: 1 }] } as const;
  return { name, collect: () => family };
}
