"""An authority of certificates for one test, and what it signs."""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Signed:
    """PEM files of a certificate and of its key, and both in one file, as Kafka takes them."""

    certificate: Path
    key: Path
    both: Path


class Authority:
    """Signs certificates; `ca` is its own, a PEM file."""

    def __init__(self, directory: Path, name: str = "ca") -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"test {name}")])
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        made = (
            self._builder(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.ca = directory / f"{name}.pem"
        self.ca.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def server(self, address: str = "127.0.0.1", *names: str) -> Signed:
        """Sign a certificate for a server at an address of IP, and at these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
        at = [x509.IPAddress(ipaddress.ip_address(address)), *map(x509.DNSName, names)]
        made = (
            self._builder(subject, key.public_key())
            .add_extension(x509.SubjectAlternativeName(at), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        signed = Signed(*(self._directory / f"server-{part}.pem" for part in ("certificate", "key", "both")))
        certificate = made.public_bytes(serialization.Encoding.PEM)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        signed.certificate.write_bytes(certificate)
        signed.key.touch(0o600)
        signed.key.write_bytes(private)
        signed.both.touch(0o600)
        signed.both.write_bytes(private + certificate)
        return signed

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        )
