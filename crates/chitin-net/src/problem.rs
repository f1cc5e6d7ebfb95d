//! Why TLS did not come about, in words for people.

use crate::roots::OWN_AUTHORITIES;
use rustls::CertificateError;
use std::error::Error;

/// Says what is wrong with a certificate, and what to do about it, if that is why a connection failed.
pub fn certificate_problem(error: &(dyn Error + 'static)) -> Option<String> {
    let rustls::Error::InvalidCertificate(why) = tls_error(error)? else {
        return None;
    };
    Some(match why {
        // A renewed authority may have the name of the one that is known, and another key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
            "the certificate is signed by an authority that is not trusted; if it is your company's, name its PEM file in \
             `{OWN_AUTHORITIES}`"
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate is that of another host".to_owned()
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "the certificate is too old or too new; look at the clock of this machine".to_owned()
        }
        other => format!("the certificate is not good: {other}"),
    })
}

/// Finds what TLS said; it comes wrapped in errors of the operating system's kind, which do not call it their source.
pub fn tls_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let mut next = Some(error);
    while let Some(found) = next {
        if let Some(tls) = found.downcast_ref() {
            return Some(tls);
        }
        let wrapped = found
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        next = match wrapped {
            Some(inner) => Some(inner),
            None => found.source(),
        };
    }
    None
}
