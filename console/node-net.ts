import ipaddr from 'ipaddr.js';

/**
 * Stands for `node:net` in the browser, where the creation rules need nothing but this: 4 or 6 for an address as `URL.hostname`
 * spells it, else 0.
 */
export const isIP = (text: string): 0 | 4 | 6 => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return 4;
  return ipaddr.IPv6.isValid(text) ? 6 : 0;
};
