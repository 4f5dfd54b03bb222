/**
 * Many servers hand headers to their programs as CGI does (RFC 3875, section 4.1.18): in one case, with one sign for all that is no letter
 * and no digit. There `X_Remote_User` is `X-Remote-User`, so both have one name here: `x-remote-user`.
 */
export const foldedName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '-');
