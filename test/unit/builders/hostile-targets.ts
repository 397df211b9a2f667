/** The words of a text, in rows. */
const words = (text: string): string[] => text.trim().split(/\s+/);

/** Addresses of the public internet. */
export const PUBLIC_ADDRESSES = words(`
  8.8.8.8 93.184.215.14 1.0.0.1 11.0.0.1 172.32.0.1 192.167.255.255 223.255.255.255 2606:4700::1111
  2001:4860:4860::8888 2a00:1450:4001::200e
`);

/** Addresses of the local machine and the local network. */
export const LOCAL_ADDRESSES = words(`
  127.0.0.1 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 ::1
  0:0:0:0:0:0:0:1 fd12:3456::1 fc00::1
`);

/** Addresses that are refused even where private targets are allowed. */
export const REFUSED_ADDRESSES = words(`
  0.0.0.0 0.1.2.3 100.64.0.1 100.100.100.200 169.254.0.1 169.254.169.254 169.254.170.2 192.0.0.1
  192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1 198.18.0.1 198.19.255.255
  198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 :: ::7f00:1
  ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:169.254.169.254 ::ffff:8.8.8.8
  ::ffff:0:127.0.0.1 ::fffe:7f00:1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1
  100:0:0:1::1 200::1 2001::1 2001:0:7f00:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1
  2001:20::1 2001:30::1 2001:db8::1 2002:7f00:1:: 2002:a9fe:a9fe::1 2620:4f:8000::1 3fff::1 4000::1
  5f00::1 fd00:ec2::254 fd00:ec2:0:1::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 ff0e::1
`);

/**
 * URLs that spell refused addresses differently, or are invalid: decimal, hexadecimal, octal, shortened, in other
 * digits, with trailing dots, with zones.
 */
export const HOSTILE_URLS = [
  ...words(`
    https://2130706433/ https://0x7f000001/ https://0x7f.1/ https://0X7F.0.0.1/ https://127.1/
    https://127.0.1/ https://0177.0.0.1/ https://0177.1/ https://017700000001/ https://127.0.0.1./
    https://127.00.00.01/ https://１２７.０.０.１/ https://①②⑦.⓪.⓪.①/ https://127。0。0。1/
    https://127%2e0%2e0%2e1/ https://%31%32%37.0.0.1/ https://0/ https://0x0/ https://0.0.0.0:443/
    https://2852039166/ https://0xa9fea9fe/ https://0xa9.0xfe.0xa9.0xfe/ https://0251.0376.0251.0376/
    https://169.254.43518/ https://169.254.169.254/latest/meta-data/ https://169.254.169.254./
    https://[fd00:ec2::254]/ https://[FD00:EC2::254]/ https://[::]/ https://[::1]/
    https://[0000::0001]/ https://[::ffff:127.0.0.1]/ https://[::ffff:7f00:1]/
    https://[0:0:0:0:0:ffff:127.0.0.1]/ https://[::127.0.0.1]/ https://[64:ff9b::127.0.0.1]/
    https://[2002:7f00:1::]/ https://[fe80::1]/ https://[fe80::1%eth0]/ https://[fe80::1%25eth0]/
    https://[2606:4700::1111%251]/ https://localhost/ https://LOCALHOST/ https://localhost./
    https://ｌｏｃａｌｈｏｓｔ/ https://anything.localhost/ https://10.0.0.1/ https://192.168.1.1/
    https://172.16.0.1/ https://100.100.100.200/ https://user@public.example/
    https://user:secret@public.example/ https://public.example:secret@127.0.0.1/
    https://public.example:22/ https://public.example:25/ https://public.example:0/
    https://public.example:6379@127.0.0.1/ https://public.example:6667/ http://public.example/
    http://127.0.0.1/ http://[::1]/ HTTP://127.0.0.1/ ftp://public.example/ file:///etc/passwd
    file://127.0.0.1/etc/passwd gopher://127.0.0.1:70/_a unix:///var/run/docker.sock
    data:video/mp4;base64,AAAA blob:https://public.example/1 about:blank javascript:alert(1)
    ws://127.0.0.1/ //public.example/ /etc/passwd public.example https:// https:/// https://[::1
    https://256.256.256.256/ https://1.2.3.4.5/ https://127.0.0.0x/ https://public.example:99999/
  `),
  ...['https://exa mple.com/', ''],
];
