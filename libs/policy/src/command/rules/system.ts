import type { Rule } from '../rule.ts';

/** Programs that administer a machine. */
export const systemRules: readonly Rule[] = [
  {
    names: 'shutdown reboot halt poweroff init telinit',
    is: 'DESTRUCTIVE',
    why: 'stops the machine',
    examples: [
      ['reboot', 'DESTRUCTIVE!'],
      ['shutdown -h now', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'kill pkill killall killall5 skill xkill taskkill',
    is: 'READ_ONLY',
    judge: 'kill',
    examples: [
      ['kill 1234', 'DESTRUCTIVE!'],
      ['kill -l', 'READ_ONLY'],
      ['pkill vite', 'DESTRUCTIVE!'],
      ['kill -s KILL -- -1', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'userdel groupdel deluser delgroup',
    is: 'DESTRUCTIVE',
    why: 'removes an account',
    examples: [['userdel bob', 'DESTRUCTIVE!']],
  },
  {
    names:
      'useradd usermod adduser addgroup groupadd groupmod passwd chpasswd chsh chfn gpasswd vipw vigr visudo chage newusers pwconv faillock loginctl login',
    is: 'PRIVILEGED',
    why: 'changes accounts',
    always: true,
    examples: [
      ['useradd bob', 'PRIVILEGED'],
      ['visudo', 'PRIVILEGED'],
    ],
  },
  {
    names: 'apt apt-get aptitude',
    is: 'PRIVILEGED',
    other: 'PRIVILEGED',
    valued: '-o -c -t -a',
    verbs: {
      READ_ONLY: 'list show policy showsrc depends rdepends',
      PRIVILEGED:
        'install remove purge update upgrade full-upgrade dist-upgrade autoremove clean autoclean download source build-dep edit-sources',
    },
    forms: { search: { is: 'READ_ONLY' } },
    examples: [
      ['apt list', 'READ_ONLY'],
      ['apt-get install -y x', 'PRIVILEGED'],
      ['apt-get -y update', 'PRIVILEGED'],
    ],
  },
  {
    names: 'dpkg rpm apt-cache dpkg-query apt-mark apt-key add-apt-repository dpkg-reconfigure apt-file',
    is: 'READ_ONLY',
    judge: 'package-query',
    examples: [
      ['dpkg -l', 'READ_ONLY'],
      ['dpkg -i x.deb', 'PRIVILEGED'],
      ['rpm -qa', 'READ_ONLY'],
      ['rpm -ivh x.rpm', 'PRIVILEGED'],
      ['apt-cache search jq', 'READ_ONLY'],
      ['add-apt-repository ppa:x', 'PRIVILEGED'],
    ],
  },
  {
    names:
      'yum dnf microdnf zypper apk pacman yay paru emerge xbps-install xbps-remove eopkg swupd pkg pkg_add slackpkg snap flatpak choco winget scoop opkg tdnf rpm-ostree',
    is: 'PRIVILEGED',
    why: 'is the package manager of the system',
    examples: [
      ['dnf install git', 'PRIVILEGED'],
      ['apk add git', 'PRIVILEGED'],
      ['pacman -S git', 'PRIVILEGED'],
    ],
  },
  {
    names: 'systemctl',
    is: 'PRIVILEGED',
    other: 'PRIVILEGED',
    bare: 'READ_ONLY',
    valued: '-t -p -n -H -M --type --property --state --lines --host --machine',
    verbs: {
      READ_ONLY:
        'status show list-units list-unit-files list-timers list-sockets list-dependencies is-active is-enabled is-failed cat get-default help',
      DESTRUCTIVE: 'reboot poweroff halt kexec emergency rescue',
    },
    examples: [
      ['systemctl status nginx', 'READ_ONLY'],
      ['systemctl --user enable evil', 'PRIVILEGED'],
      ['systemctl poweroff', 'DESTRUCTIVE!'],
    ],
  },
  {
    names:
      'service rc-service rc-update launchctl initctl update-rc.d chkconfig sv runsvdir supervisorctl monit systemd-analyze systemd-tmpfiles timedatectl hostnamectl localectl resolvectl networkctl',
    is: 'READ_ONLY',
    judge: 'service',
    examples: [
      ['service nginx stop', 'PRIVILEGED'],
      ['service nginx status', 'READ_ONLY'],
      ['timedatectl set-time 1', 'PRIVILEGED'],
    ],
  },
  {
    names: 'journalctl',
    is: 'READ_ONLY',
    valued: '-u -n -t -p -S -U --unit --lines --since --until --priority -o',
    effects: [
      {
        on: '--vacuum-size --vacuum-time --vacuum-files --rotate --flush --setup-keys',
        is: 'PRIVILEGED',
        why: 'removes logs of the system',
      },
    ],
    examples: [
      ['journalctl -u nginx -n 50', 'READ_ONLY'],
      ['journalctl --vacuum-time=1s', 'PRIVILEGED'],
    ],
  },
  {
    names: 'ip ifconfig route arp ethtool iwconfig tc bridge',
    is: 'READ_ONLY',
    judge: 'network-show',
    examples: [
      ['ip addr', 'READ_ONLY'],
      ['ip -4 route show', 'READ_ONLY'],
      ['ip link set eth0 down', 'PRIVILEGED'],
      ['ip -batch f', 'MUTATING'],
      ['ifconfig', 'READ_ONLY'],
      ['ifconfig eth0 down', 'PRIVILEGED'],
    ],
  },
  {
    names: 'sysctl',
    is: 'READ_ONLY',
    judge: 'sysctl',
    examples: [
      ['sysctl -a', 'READ_ONLY'],
      ['sysctl kernel.hostname', 'READ_ONLY'],
      ['sysctl -w kernel.x=1', 'PRIVILEGED'],
      ['sysctl kernel.x=1', 'PRIVILEGED'],
    ],
  },
  {
    names:
      'mount umount chown lchown losetup swapon swapoff modprobe insmod rmmod depmod kmod iptables ip6tables ipset nft nftables ufw firewall-cmd pfctl ebtables brctl ovs-vsctl setcap setenforce semanage setsebool restorecon chcon apparmor_parser aa-enforce aa-complain auditctl mknod chattr update-alternatives update-grub grub-install grub-mkconfig dracut mkinitramfs update-initramfs mkinitcpio ldconfig hwclock ntpd chronyc quotaon edquota kexec dmidecode nvram efibootmgr flashrom fwupdmgr tuned-adm cpupower pam-auth-update authselect dpkg-divert alternatives netplan nmcli nmtui wpa_supplicant dhclient dhcpcd ifup ifdown networksetup scutil dscl spctl csrutil bless tmutil defaults pmset kextload lvcreate lvextend vgcreate pvcreate exportfs rpcbind smbd nmbd setquota sss_cache realm nsupdate rndc ctrlaltdel',
    is: 'PRIVILEGED',
    why: 'administers the machine',
    always: true,
    examples: [
      ['chown -R root .', 'PRIVILEGED'],
      ['umount /mnt', 'PRIVILEGED'],
      ['mount /dev/sda1 /mnt', 'PRIVILEGED'],
      ['modprobe x', 'PRIVILEGED'],
      ['iptables -F', 'PRIVILEGED'],
      ['setcap cap_net_raw+ep ./x', 'PRIVILEGED'],
      ['chattr +i f', 'PRIVILEGED'],
    ],
  },
  {
    names: 'crontab',
    is: 'READ_ONLY',
    valued: '-u',
    judge: 'crontab',
    examples: [
      ['crontab -', 'MUTATING'],
      ['crontab -r', 'MUTATING!'],
      ['crontab -l', 'READ_ONLY'],
    ],
  },
  {
    names: 'renice xdg-open open start wl-copy xclip xsel pbcopy pbpaste xdotool notify-send say',
    is: 'MUTATING',
    why: 'acts outside the sandbox or on other processes',
    examples: [['open -a Calculator', 'MUTATING']],
  },
];
