/** The version of the API, as the server reports it. */
export const VERSION = {
  major: '1',
  minor: '31',
  gitVersion: 'v1.31.0+pg-apiserver.0.1.0',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};
